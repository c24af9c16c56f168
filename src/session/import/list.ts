import { shelf } from '#lib/shelf.ts';
import type { Importer } from './found.ts';
import claude from './claude.ts';
import codex from './codex.ts';
import crush from './crush.ts';
import cursor from './cursor.ts';
import gemini from './gemini.ts';
import opencode from './opencode.ts';

/** The shells whose settings can be taken over. To add one: write its file, name it here. */
export const importers: readonly Importer[] = shelf('importers', [claude, codex, gemini, opencode, crush, cursor]);
