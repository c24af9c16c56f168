// A kind of reminder of one's own: the model hears of the weather when it changes, and only then.
import { absent, createAgent, defineSource } from 'pinion';

let weather: string | undefined = 'sunny';

const source = defineSource<string>({
  id: 'weather', on: ['prompt', 'step'], threads: 'main', cadence: 'onChange',
  observe: () => weather ?? absent,
  revive: (stored) => (typeof stored === 'string' ? stored : undefined),
  full: (now) => `The weather is ${now}.`,
  delta: (before, now) => `The weather was ${before} and is ${now} now.`,
  gone: () => 'Nothing is known of the weather any more.',
});

const agent = await createAgent({ sources: [source], persist: false });
for (const next of ['sunny', 'sunny', 'rainy', undefined]) {
  weather = next;
  const from = agent.session.log.length;
  await agent.answer('Count to 2');
  const said = agent.session.log.slice(from).flatMap((entry) => (entry.type === 'reminder' && entry.source === 'weather' ? entry.parts : []));
  console.log(said.map((part) => (part.type === 'text' ? part.text : '')).join('') || '(nothing)');
}
await agent.close();
