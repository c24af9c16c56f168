import { shelf } from '#lib/shelf.ts';
import type { Command } from '#domain/command.ts';
import agents from './agents.ts';
import budget from './budget.ts';
import clear from './clear.ts';
import compact from './compact.ts';
import config from './config.ts';
import context from './context.ts';
import cost from './cost.ts';
import exit from './exit.ts';
import help from './help.ts';
import hooks from './hooks.ts';
import ide from './ide.ts';
import importFrom from './import.ts';
import init from './init.ts';
import login from './login.ts';
import logout from './logout.ts';
import lsp from './lsp.ts';
import memory from './memory.ts';
import mcp from './mcp.ts';
import model from './model.ts';
import outputStyle from './output-style.ts';
import pin from './pin.ts';
import plan from './plan.ts';
import queue from './queue.ts';
import resume from './resume.ts';
import skills from './skills.ts';
import statusline from './statusline.ts';
import tasks from './tasks.ts';
import todo from './todo.ts';
import unpin from './unpin.ts';

/** All slash commands, in the order of help and completion. To add one: write its file, name it here. */
export const commands: readonly Command[] = shelf('commands', [
  pin, unpin, todo, memory, context,
  plan, init, tasks, agents, queue, mcp, ide, lsp, hooks, skills, outputStyle,
  model, cost, budget, login, logout,
  compact, clear, resume, config, statusline, importFrom, help, exit,
]);
