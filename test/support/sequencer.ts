import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files that take long: the runner goes by size where it has no times yet. Last of all, they would leave a core idle. */
const LONG = /\/test\/(?:property|bench|lsp\/|gate\/parsed-as-bash-does|tools\/write-child|agents\/mailbox)|\/test\/product\/(?:first-minute|setup|examples)/;

/** What takes long comes first within its project, so that both cores are busy to the end. */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return [...own.filter(({ moduleId }) => LONG.test(moduleId)), ...own.filter(({ moduleId }) => !LONG.test(moduleId))];
    });
  }
}
