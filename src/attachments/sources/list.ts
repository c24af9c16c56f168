import { shelf } from '#lib/shelf.ts';
import agentListing from './agent-listing-delta.ts';
import agentMentions from './agent-mentions.ts';
import agentPendingMessages from './agent-pending-messages.ts';
import atMentionedFiles from './at-mentioned-files.ts';
import autoMode from './auto-mode.ts';
import budgetUsd from './budget-usd.ts';
import changedFiles from './changed-files.ts';
import compactionReminder from './compaction-reminder.ts';
import companionIntro from './companion-intro.ts';
import criticalSystemReminder from './critical-system-reminder.ts';
import dateChange from './date-change.ts';
import deferredTools from './deferred-tools-delta.ts';
import diagnostics from './diagnostics.ts';
import dynamicSkill from './dynamic-skill.ts';
import environment from './environment.ts';
import hookContext from './hook-context.ts';
import ideOpenedFile from './ide-opened-file.ts';
import ideSelection from './ide-selection.ts';
import invokedSkills from './invoked-skills.ts';
import lspDiagnostics from './lsp-diagnostics.ts';
import mcpInstructions from './mcp-instructions-delta.ts';
import mcpResources from './mcp-resources.ts';
import memory from './memory.ts';
import nestedMemory from './nested-memory.ts';
import outputStyle from './output-style.ts';
import outputTokenUsage from './output-token-usage.ts';
import pins from './pins.ts';
import planFile from './plan-file.ts';
import planMode from './plan-mode.ts';
import queuedCommands from './queued-commands.ts';
import recentFiles from './recent-files.ts';
import relevantMemories from './relevant-memories.ts';
import skillDiscovery from './skill-discovery.ts';
import skillListing from './skill-listing.ts';
import teamContext from './team-context.ts';
import teammateMailbox from './teammate-mailbox.ts';
import todoReminders from './todo-reminders.ts';
import todos from './todos.ts';
import tokenUsage from './token-usage.ts';
import ultrathinkEffort from './ultrathink-effort.ts';
import verifyPlanReminder from './verify-plan-reminder.ts';
import unifiedTasks from './unified-tasks.ts';

/**
 * Every source, in the order in which their reminders stand in a moment's block: first what holds all the time (place, date,
 * standing instructions), then what the user keeps in view, then what belongs to this prompt, then what just happened. What
 * bears on the very next step (mode, nudges, the user's queued words) stands last, nearest to the question.
 */
export const sources = shelf('sources', [
  environment,
  dateChange,
  deferredTools,
  mcpInstructions,
  memory,
  nestedMemory,
  skillListing,
  agentListing,
  invokedSkills,
  outputStyle,
  companionIntro,
  teamContext,
  pins,
  todos,
  planFile,
  skillDiscovery,
  recentFiles,
  relevantMemories,
  mcpResources,
  atMentionedFiles,
  agentMentions,
  ideOpenedFile,
  ideSelection,
  dynamicSkill,
  changedFiles,
  lspDiagnostics,
  diagnostics,
  hookContext,
  unifiedTasks,
  teammateMailbox,
  agentPendingMessages,
  tokenUsage,
  outputTokenUsage,
  budgetUsd,
  compactionReminder,
  todoReminders,
  verifyPlanReminder,
  planMode,
  autoMode,
  ultrathinkEffort,
  criticalSystemReminder,
  queuedCommands,
]);
