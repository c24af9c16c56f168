/** Model-facing prose stands in Markdown files beside the code; the bundler and the test runner give it as a string. */
declare module '*.md' {
  const text: string;
  export default text;
}
