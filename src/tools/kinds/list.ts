import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { read } from './read.ts';
import { skill } from './skill.ts';
import { taskOutput } from './task-output.ts';
import { taskStop } from './task-stop.ts';
import { todoWrite } from './todo-write.ts';
import { toolSearch } from './tool-search.ts';
import { write } from './write.ts';

export const tools = [read, write, edit, glob, grep, bash, skill, taskOutput, taskStop, todoWrite, toolSearch] as const;
