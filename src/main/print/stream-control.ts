import { messageOf } from '#lib/errors.ts';
import type { Json } from '#lib/brand.ts';
import type { Fields } from '#headless/input.ts';
import { modelId } from '#session/settings.ts';
import type { Conversation } from '#main/conversation.ts';
import type { House } from '#main/house.ts';
import { isMode, mayHave } from './stream-asker.ts';
import { openingOf, REQUESTS, serversOf } from './stream-init.ts';

export interface Controls {
  readonly house: House;
  readonly conversation: Conversation;
  /** Interrupts the turn that is under way, if there is one. */
  readonly interrupt: () => void;
}

type Response = Readonly<Record<string, unknown>>;

/** Does what a request wants. Throws (one line) what it cannot do. */
async function respond(request: Fields, { house, conversation, interrupt }: Controls): Promise<Response> {
  switch (request['subtype']) {
    case 'initialize': {
      const unable = ['hooks', 'sdkMcpServers', 'agents', 'systemPrompt', 'appendSystemPrompt', 'jsonSchema'].filter((field) => holds(request[field]));
      if (unable.length > 0) throw new Error(`initialize: ${unable.join(', ')} cannot be taken up here; use settings, files and flags.`);
      return openingOf(house, conversation);
    }
    case 'interrupt': interrupt(); return {};
    case 'set_permission_mode': {
      const { mode } = request;
      if (!isMode(mode) || !mayHave(mode, house)) throw new Error(`set_permission_mode: this run cannot have the mode ${JSON.stringify(mode ?? null)}.`);
      conversation.setMode(mode);
      return { mode };
    }
    case 'set_model': {
      const { model } = request;
      if (typeof model !== 'string' || model === '') throw new Error('set_model: name a model.');
      house.desk.choose(modelId(model));
      return {};
    }
    case 'mcp_status': return { mcpServers: serversOf(house.mcp.servers()) };
    case 'get_context_usage': return contextUsage(conversation);
    case 'stop_task': {
      const id = request['task_id'];
      if (typeof id !== 'string') throw new Error('stop_task: name a task.');
      const stopped = await house.tasks.stop(id, conversation.session);
      if ('problem' in stopped) throw new Error(stopped.problem);
      return {};
    }
    default: throw new Error(`there is no request ${JSON.stringify(request['subtype'])}; there are ${REQUESTS.join(', ')}.`);
  }
}

/** A line that answers a request. */
export async function controlResponse(id: string, request: Fields, controls: Controls): Promise<Response> {
  try {
    return { type: 'control_response', response: { subtype: 'success', request_id: id, response: await respond(request, controls) } };
  } catch (error) {
    return { type: 'control_response', response: { subtype: 'error', request_id: id, error: messageOf(error) } };
  }
}

/** Whether a field says anything: a list or object without anything in it does not. */
function holds(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0);
}

/** What the next request holds, by kind and block by block. */
async function contextUsage(conversation: Conversation): Promise<Response> {
  const { rows, coming = [], estimated, measured, window, limit, model } = await conversation.context('print', []).context();
  const groups = [...new Set(rows.map(({ group }) => group))];
  const categories = groups.map((name) => ({ name, tokens: rows.reduce((sum, row) => sum + (row.group === name ? row.tokens : 0), 0), kind: 'used' }));
  return {
    model, total_tokens: estimated, raw_max_tokens: window, percentage: Math.round(estimated / window * 1000) / 10, over_limit: estimated > limit, measured_tokens: measured ?? null,
    categories: [...categories, { name: 'free', tokens: Math.max(0, limit - estimated), kind: 'free' }, { name: 'reserve', tokens: window - limit, kind: 'buffer' }], rows, coming,
  };
}
