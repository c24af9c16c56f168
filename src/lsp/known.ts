/** A server that many people have installed, and how to tell that it is there: by its program, never by running something. */
export interface KnownServer {
  readonly name: string;
  /** Endings with the dot, each with the language's id. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Programs that will do, the best first. */
  readonly programs: readonly KnownProgram[];
  /** Files that mark the folder it works in, the likeliest first; without any the whole project. */
  readonly rootMarkers?: readonly string[];
  /** How people get one. */
  readonly install: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface KnownProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** It runs nothing that a project brings along (plug-ins, build scripts, interpreters, its own compiler): it may start before the folder is trusted. */
  readonly harmless?: true;
  /** Only from this major version of its package on. */
  readonly since?: number;
  readonly initializationOptions?: Readonly<Record<string, unknown>>;
}

const stdio = (file: string, more: Partial<KnownProgram> = {}): KnownProgram => ({ file, args: ['--stdio'], ...more });

const LOCAL_SCHEMAS = { handledSchemaProtocols: ['file'] };

export const KNOWN_SERVERS: readonly KnownServer[] = [
  {
    name: 'typescript', install: 'npm install --save-dev typescript (version 7 or newer), or npm install -g typescript-language-server typescript@5',
    extensions: { '.ts': 'typescript', '.tsx': 'typescriptreact', '.mts': 'typescript', '.cts': 'typescript', '.js': 'javascript', '.jsx': 'javascriptreact', '.mjs': 'javascript', '.cjs': 'javascript' },
    programs: [
      { file: 'tsc', args: ['--lsp', '--stdio'], harmless: true, since: 7 }, stdio('vtsls'),
      // Its second, quick server answers without having seen the project.
      stdio('typescript-language-server', { initializationOptions: { tsserver: { useSyntaxServer: 'never' } } }),
    ],
  },
  {
    name: 'python', install: 'npm install -g pyright, or pip install python-lsp-server', extensions: { '.py': 'python', '.pyi': 'python' },
    programs: [stdio('basedpyright-langserver'), stdio('pyright-langserver'), { file: 'ty', args: ['server'] }, { file: 'pylsp', args: [] }, { file: 'jedi-language-server', args: [] }],
    rootMarkers: ['pyproject.toml', 'setup.py', 'pyrightconfig.json'],
  },
  { name: 'go', install: 'go install golang.org/x/tools/gopls@latest', extensions: { '.go': 'go' }, programs: [{ file: 'gopls', args: [] }], rootMarkers: ['go.work', 'go.mod'] },
  { name: 'rust', install: 'rustup component add rust-analyzer', extensions: { '.rs': 'rust' }, programs: [{ file: 'rust-analyzer', args: [] }], rootMarkers: ['Cargo.lock', 'Cargo.toml'] },
  {
    name: 'clangd', install: 'the package clangd of your system', rootMarkers: ['compile_commands.json', 'compile_flags.txt', '.clangd'],
    extensions: { '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hh': 'cpp', '.hpp': 'cpp', '.hxx': 'cpp', '.m': 'objective-c', '.mm': 'objective-cpp' },
    programs: [{ file: 'clangd', args: [], harmless: true }],
  },
  { name: 'bash', install: 'npm install -g bash-language-server', extensions: { '.sh': 'shellscript', '.bash': 'shellscript' }, programs: [{ file: 'bash-language-server', args: ['start'], harmless: true }] },
  {
    name: 'json', install: 'npm install -g vscode-langservers-extracted', extensions: { '.json': 'json', '.jsonc': 'jsonc' },
    // Of schemas it takes those in files only: a file names any address.
    programs: [stdio('vscode-json-language-server', { harmless: true, initializationOptions: LOCAL_SCHEMAS }), stdio('vscode-json-languageserver', { harmless: true, initializationOptions: LOCAL_SCHEMAS })],
  },
  {
    // Without the store it fetches nothing from the web by itself, but what a file names: it waits for trust.
    name: 'yaml', install: 'npm install -g yaml-language-server', extensions: { '.yaml': 'yaml', '.yml': 'yaml' }, programs: [stdio('yaml-language-server')],
    settings: { yaml: { schemaStore: { enable: false, url: '' } }, redhat: { telemetry: { enabled: false } } },
  },
  { name: 'css', install: 'npm install -g vscode-langservers-extracted', extensions: { '.css': 'css', '.scss': 'scss', '.less': 'less' }, programs: [stdio('vscode-css-language-server', { harmless: true })] },
  { name: 'html', install: 'npm install -g vscode-langservers-extracted', extensions: { '.html': 'html', '.htm': 'html' }, programs: [stdio('vscode-html-language-server', { harmless: true })] },
  { name: 'lua', install: 'the package lua-language-server of your system', extensions: { '.lua': 'lua' }, programs: [{ file: 'lua-language-server', args: [] }], rootMarkers: ['.luarc.json'] },
  { name: 'zig', install: 'the package zls of your system', extensions: { '.zig': 'zig' }, programs: [{ file: 'zls', args: [] }], rootMarkers: ['build.zig'] },
  { name: 'java', install: 'the package jdtls of your system', extensions: { '.java': 'java' }, programs: [{ file: 'jdtls', args: [] }], rootMarkers: ['pom.xml', 'build.gradle', 'build.gradle.kts'] },
  { name: 'kotlin', install: 'the package kotlin-language-server of your system', extensions: { '.kt': 'kotlin', '.kts': 'kotlin' }, programs: [{ file: 'kotlin-language-server', args: [] }], rootMarkers: ['settings.gradle.kts', 'build.gradle.kts', 'pom.xml'] },
  { name: 'ruby', install: 'gem install ruby-lsp', extensions: { '.rb': 'ruby' }, programs: [{ file: 'ruby-lsp', args: [] }, { file: 'solargraph', args: ['stdio'] }], rootMarkers: ['Gemfile'] },
  { name: 'php', install: 'npm install -g intelephense', extensions: { '.php': 'php' }, programs: [stdio('intelephense'), { file: 'phpactor', args: ['language-server'] }], rootMarkers: ['composer.json'] },
  { name: 'csharp', install: 'dotnet tool install -g csharp-ls', extensions: { '.cs': 'csharp' }, programs: [{ file: 'csharp-ls', args: [] }] },
  { name: 'swift', install: 'the Swift toolchain', extensions: { '.swift': 'swift' }, programs: [{ file: 'sourcekit-lsp', args: [] }], rootMarkers: ['Package.swift'] },
  { name: 'dart', install: 'the Dart SDK', extensions: { '.dart': 'dart' }, programs: [{ file: 'dart', args: ['language-server'] }], rootMarkers: ['pubspec.yaml'] },
  { name: 'haskell', install: 'ghcup install hls', extensions: { '.hs': 'haskell' }, programs: [{ file: 'haskell-language-server-wrapper', args: ['--lsp'] }], rootMarkers: ['hie.yaml', 'stack.yaml', 'cabal.project'] },
  { name: 'ocaml', install: 'opam install ocaml-lsp-server', extensions: { '.ml': 'ocaml', '.mli': 'ocaml.interface' }, programs: [{ file: 'ocamllsp', args: [] }], rootMarkers: ['dune-project'] },
  { name: 'svelte', install: 'npm install -g svelte-language-server', extensions: { '.svelte': 'svelte' }, programs: [stdio('svelteserver')] },
  { name: 'terraform', install: 'the program terraform-ls', extensions: { '.tf': 'terraform' }, programs: [{ file: 'terraform-ls', args: ['serve'] }] },
  { name: 'nix', install: 'the program nixd or nil', extensions: { '.nix': 'nix' }, programs: [{ file: 'nixd', args: [] }, { file: 'nil', args: [] }] },
];
