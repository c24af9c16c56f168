// What a package needs beside the bundle: types for those who import it, and the licences of what is bundled.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundle } from './build.js';
import { root } from './ready.js';

const types = join(root, 'dist/types');

/** Builds dist/ anew, whole. */
export async function completePackage() {
  const { inputs } = await bundle();
  writeFileSync(join(root, 'dist/THIRD-PARTY.txt'), licences(Object.keys(inputs)));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.types.json')], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  for (const file of readdirSync(types, { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
    const path = join(types, file);
    writeFileSync(path, withPlainSpecifiers(readFileSync(path, 'utf8'), dirname(path)));
  }
}

/** `#room/x.ts` means something in this checkout only, and `.ts` nothing to who has but the declarations. */
function withPlainSpecifiers(text, folder) {
  const rooms = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).imports;
  return text.replace(/((?:from|import)\s*\(?\s*)(['"])([#.][^'"]+)\.tsx?\2/g, (_, before, quote, specifier) => {
    const [room, ...rest] = specifier.split('/');
    const target = room.startsWith('#') ? relative(folder, join(types, rooms[`${room}/*`].replace('*', rest.join('/')))) : specifier;
    return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}.js${quote}`;
  });
}

function licences(inputs) {
  const packages = new Set(inputs.toSorted().flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const notices = [...packages].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
    const text = file !== undefined && existsSync(join(root, folder, file)) ? `\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}` : '';
    return `${name} ${version} (${license})${text}\n`;
  });
  return ['The program contains the following packages.\n', ...notices].join(`\n${'-'.repeat(100)}\n`);
}
