/** Names of variables, headers and flags whose values are nobody else's business. */
const SECRET_NAME = /(?:^|[^a-z])(?:api|access|private|auth|secret|client)?[-_ ]?(?:keys?|tokens?|secrets?|passwords?|passwd|pwd|pat|auth(?:orization)?|credentials?|cookie|bearer|session|dsn|signature)(?:$|[^a-z])/i;
const CAMEL = /([a-z])([A-Z])/g;
const SECRET_VALUE = /(?:^|[\s=:"'])(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abposr]|AKIA|ASIA|AIza|ya29|eyJ|npm|hf|lin_api|figd|ntn|secret)[-_.A-Za-z0-9]{8,}/;
const LONG_AND_MIXED = /^(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9+_=-]{24,}$/;
const WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/@]*:[^\s/@]+@/i;

/** Whether a value is a secret, by its own looks or by its name (empty: it has none). A reference to a variable is none. */
export function isSecret(name: string, value: string): boolean {
  if (value === '' || isReference(value)) return false;
  if (SECRET_VALUE.test(value) || WITH_PASSWORD.test(value) || (name !== '' && LONG_AND_MIXED.test(value))) return true;
  return SECRET_NAME.test(name.replaceAll(CAMEL, '$1_$2')) && !/^(?:true|false|\d{1,6}|none|null)$/i.test(value);
}

/** Only references and fixed words around them, such as `Bearer ${TOKEN}`. */
function isReference(value: string): boolean {
  return /\$\{[A-Za-z_]\w*(?::-)?\}/.test(value) && !/[A-Za-z0-9]{9,}/.test(value.replace(/\$\{[^}]*\}/g, ''));
}

/** `$VAR`, `${VAR}`, `{env:VAR}` and `%VAR%` as `${VAR}`. What a shell would have to work out is undefined. */
export function withReferences(value: string): string | undefined {
  if (/\$\(|`|\{file:/.test(value)) return undefined;
  return value.replaceAll(/\{env:([A-Za-z_]\w*)\}/g, '${$1}').replaceAll(/\$([A-Za-z_]\w*)/g, '${$1}');
}

/** The name of a variable made of several words. */
export function variableOf(...words: readonly string[]): string {
  const name = words.join('_').toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return /^\d/.test(name) || name === '' ? `_${name}` : name;
}
