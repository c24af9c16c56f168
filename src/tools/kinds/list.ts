import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { read } from './read.ts';
import { todoWrite } from './todo-write.ts';
import { toolSearch } from './tool-search.ts';
import { write } from './write.ts';

export const tools = [read, write, edit, glob, grep, bash, todoWrite, toolSearch] as const;
