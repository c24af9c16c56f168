import { messageOf } from '#lib/errors.ts';
import type { Effect } from '#domain/command.ts';
import { askForTrust, type Entrance } from '#main/entrance.ts';
import { createServerDesk } from './servers.ts';

type What = Extract<Effect, { readonly type: 'mcp' }>['what'];

/** Does what `/mcp` wants done with a server, and says what came of it. */
export async function actOnServer(entrance: Entrance, what: What, server: string): Promise<void> {
  const { house, show } = entrance;
  const signal = new AbortController().signal;
  const said = (text: string): void => { show({ type: 'card', card: { title: text, body: [] } }); };
  switch (what) {
    case 'reconnect': said(await house.mcp.reconnect(server, signal)); break;
    case 'logout': said(await house.mcp.logout(server)); break;
    case 'login': await login(entrance, server); break;
    case 'approve': case 'refuse': await decide(entrance, what, server); break;
  }
  entrance.refresh();
}

async function login(entrance: Entrance, server: string): Promise<void> {
  const { house, questions, show } = entrance;
  const configured = createServerDesk(house).read().servers.find(({ name }) => name === server);
  if (configured !== undefined && configured.approval !== 'given') return show({ type: 'fault', where: '/mcp', message: `${server} cannot be signed in to yet: ${configured.why ?? 'it was not approved'}.` });
  const over = new AbortController();
  const address = (url: string): void => {
    show({ type: 'card', card: { title: `Sign in to ${server}`, detail: `agree at ${new URL(url).host}; if no browser opens, open this address`, body: [{ type: 'text', text: url }] } });
  };
  const paste = (signal: AbortSignal): Promise<string | undefined> => questions.secret(`Waiting for the browser (${server})`, 'Esc gives up. If the browser runs on another machine, paste the address at which it ends.', signal);
  try {
    const text = await house.mcp.login(server, address, over.signal, paste);
    show({ type: 'card', card: { title: text, body: [] } });
  } catch (error) {
    show({ type: 'fault', where: '/mcp', message: messageOf(error) });
  } finally {
    over.abort();
  }
  return undefined;
}

async function decide(entrance: Entrance, what: 'approve' | 'refuse', name: string): Promise<void> {
  const { house, show } = entrance;
  if (what === 'approve' && !house.configuration.isTrusted()) await askForTrust(entrance);
  const desk = createServerDesk(house);
  await desk.decide(name, what === 'approve' ? 'given' : 'refused');
  const now = desk.read().servers.find((server) => server.name === name);
  house.mcp.start();
  const detail = what === 'refuse' ? 'it does not start; /mcp approve takes that back' : now?.approval === 'given' ? 'as it stands now; a change of it asks again' : now?.why;
  show({ type: 'card', card: { title: `${what === 'approve' ? 'Approved' : 'Refused'}: ${name}`, ...(detail !== undefined && { detail }), body: [] } });
}
