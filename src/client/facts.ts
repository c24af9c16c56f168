import type { Effort } from '#domain/content.ts';
import type { ModelFacts } from '#domain/model.ts';
import { numberOf, objOf, stringOf } from './json.ts';

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** What the Models API says of a model laid over what was known; whatever it leaves open stays. */
export function overlayFacts(facts: ModelFacts, answer: unknown): ModelFacts {
  const info = objOf(answer);
  if (info['type'] !== 'model') return facts;
  const can = objOf(info['capabilities']);
  const supports = (capability: unknown): boolean | undefined => {
    const { supported } = objOf(capability);
    return typeof supported === 'boolean' ? supported : undefined;
  };
  const effort = objOf(can['effort']);
  const efforts = supports(effort) === undefined ? facts.efforts : supports(effort) === false ? [] : EFFORTS.filter((level) => supports(effort[level]) === true);
  const types = objOf(objOf(can['thinking'])['types']);
  const thinking = supports(can['thinking']) === undefined ? facts.thinking
    : supports(types['adaptive']) === true ? 'adaptive' : supports(types['enabled']) === true ? 'budget' : 'none';
  const { defaultEffort, ...rest } = facts;
  return {
    ...rest,
    label: stringOf(info['display_name']) ?? facts.label,
    window: positive(info['max_input_tokens']) ?? facts.window,
    maxOutput: positive(info['max_tokens']) ?? facts.maxOutput,
    images: supports(can['image_input']) ?? facts.images,
    pdf: supports(can['pdf_input']) ?? facts.pdf,
    efforts, thinking, known: true,
    ...(defaultEffort !== undefined && efforts.includes(defaultEffort) ? { defaultEffort } : {}),
  };
}

function positive(value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && number > 0 ? number : undefined;
}
