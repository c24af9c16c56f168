import type { Json } from '#lib/brand.ts';
import { readJson, updateJson } from '#lib/atomic.ts';

/** What the user said to files outside of a project that its instruction files import. */
export interface Imports {
  /** Undefined when the user was not asked about this real path. */
  approved(real: string): boolean | undefined;
  remember(reals: readonly string[], approved: boolean): Promise<void>;
}

type Fields = Readonly<Record<string, Json>>;
const isFields = (value: Json | undefined): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Kept beside the trusted folders, by project (real path). The file is read once; what another process adds meanwhile is asked again. */
export function createImports({ file, project }: { readonly file: string; readonly project: string }): Imports {
  let known: Map<string, boolean> | undefined;
  const all = (): Map<string, boolean> => (known ??= new Map(Object.entries(saidIn(readJson(file), project)).filter((pair): pair is [string, boolean] => typeof pair[1] === 'boolean')));
  return {
    approved: (real) => all().get(real),
    async remember(reals, approved) {
      const said = Object.fromEntries(reals.map((real) => [real, approved]));
      for (const real of reals) all().set(real, approved);
      await updateJson(file, (now) => {
        const fields = isFields(now) ? now : {};
        const imports = isFields(fields['imports']) ? fields['imports'] : {};
        return { ...fields, imports: { ...imports, [project]: { ...saidIn(now, project), ...said } } };
      });
    },
  };
}

function saidIn(stored: Json | undefined, project: string): Fields {
  const imports = isFields(stored) && isFields(stored['imports']) ? stored['imports'] : {};
  const said = Object.hasOwn(imports, project) ? imports[project] : undefined;
  return isFields(said) ? said : {};
}
