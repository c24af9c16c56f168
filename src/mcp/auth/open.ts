import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] };

/** Variables that are none of a browser's business. */
const OURS = /^(?:ANTHROPIC_|PINION_)/i;

/** Opens an https or loopback address in the user's browser, without a shell. Whether it worked is not to be known: the address is shown as well. */
export function openInBrowser(url: URL, env: Readonly<Record<string, string>>, platform: NodeJS.Platform = process.platform): void {
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true, env: Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.test(name))) });
  child.on('error', () => undefined);
  child.unref();
}
