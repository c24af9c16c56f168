import { join } from 'node:path';
import type { Verdict } from '#domain/ports.ts';
import type { Session } from '#domain/session.ts';
import type { LoadedSkill, SkillView } from '#domain/skills.ts';
import type { CallId, FileTouch } from '#domain/tool.ts';
import { sha256 } from '#lib/hash.ts';
import type { BlobHash } from '#domain/content.ts';
import { createSkills, type Skills, type SkillsOptions } from '#skills/skills.ts';
import { memorySession } from '../support/logs.ts';
import { tempFolder } from '../support/temp.ts';

export interface Bench {
  readonly home: string;
  readonly project: string;
  readonly session: Session;
  readonly skills: Skills;
  /** Commands that were run, and lines that the user was told. */
  readonly ran: string[];
  readonly told: string[];
  views(): Promise<readonly SkillView[]>;
  names(): Promise<readonly string[]>;
  touch(...names: readonly string[]): void;
  load(name: string, args?: string, by?: 'user' | 'model'): Promise<LoadedSkill | { readonly problem: string }>;
  text(name: string, args?: string): Promise<string>;
}

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Skills over real folders: `home` is the user's, `files` the project's, which is trusted unless `more` says otherwise. */
export function bench(files: Files, home: Files = {}, more: { readonly allow?: (command: string) => Verdict; readonly start?: string; readonly links?: Readonly<Record<string, string>>; readonly options?: Partial<SkillsOptions> } = {}): Bench {
  const own = tempFolder(home);
  const project = tempFolder(files, more.links);
  const session = memorySession();
  const ran: string[] = [];
  const told: string[] = [];
  const signal = new AbortController().signal;
  const { allow = (): Verdict => ({ kind: 'allow' }), start = '.', options = {} } = more;
  const skills = createSkills({
    places: {
      userSkills: [join(own, '.pinion/skills'), join(own, '.claude/skills'), join(own, '.agents/skills')], userCommands: [join(own, '.claude/commands')],
      start: join(project, start), top: project, added: () => [], trusted: () => true, respectsIgnores: () => true,
    },
    reserved: new Set(['clear', 'help']), denied: () => Promise.resolve(false), isOpen: () => false, label: (path) => path.replace(`${project}/`, '').replace(own, '~'),
    ask: (call) => Promise.resolve(allow((call.input as { readonly command: string }).command)),
    run: (command) => {
      ran.push(command);
      return Promise.resolve({ how: 'exited', output: `out of ${command}\n`, exitCode: 0 });
    },
    mentions: () => Promise.resolve({ parts: [], files: [], notes: [] }),
    onNotice: (text) => { told.push(text); },
    ...options,
  });
  const load: Bench['load'] = (name, args = '', by = 'user') => skills.load(name, args, by, session, signal);
  const views = (): Promise<readonly SkillView[]> => skills.list(session, signal);
  return {
    home: own, project, session, skills, ran, told, load, views,
    names: async () => (await views()).map(({ name }) => name),
    touch(...names) {
      const touched = names.map((name): FileTouch => ({ path: join(project, name), hash: sha256(name) as BlobHash, how: 'read', kept: false }));
      session.append({ type: 'toolResult', callId: 'c' as CallId, tool: 'Read', result: { kind: 'ok', content: [], card: { title: '', body: [] }, files: touched } });
    },
    async text(name, args = '') {
      const loaded = await load(name, args);
      if ('problem' in loaded) throw new Error(loaded.problem);
      return loaded.text;
    },
  };
}

export const skill = (description: string, body = 'Body.', more = ''): string => `---\ndescription: ${description}\n${more}---\n${body}\n`;
