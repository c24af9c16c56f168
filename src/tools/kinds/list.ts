import { askUserQuestion } from './ask-user-question.ts';
import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { exitPlanMode } from './exit-plan-mode.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { read } from './read.ts';
import { sendMessage } from './send-message.ts';
import { skill } from './skill.ts';
import { task } from './task.ts';
import { taskOutput } from './task-output.ts';
import { taskStop } from './task-stop.ts';
import { todoWrite } from './todo-write.ts';
import { toolSearch } from './tool-search.ts';
import { webFetch } from './web-fetch.ts';
import { write } from './write.ts';

export const tools = [read, write, edit, glob, grep, bash, skill, task, sendMessage, taskOutput, taskStop, todoWrite, toolSearch, webFetch, askUserQuestion, exitPlanMode] as const;
