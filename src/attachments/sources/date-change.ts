import { defineSource } from '../define.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** The user's local date, and again when midnight has passed. */
export default defineSource<string>({
  id: 'date_change', on: ['prompt', 'step'], threads: 'all', cadence: 'onChange',
  observe: ({ now }) => {
    const two = (n: number): string => String(n).padStart(2, '0');
    return `${DAYS[now.getDay()] ?? ''}, ${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  },
  revive: (stored) => (typeof stored === 'string' ? stored : undefined),
  full: (now) => `Today is ${now}.`,
  delta: (_, now) => `The date has changed: today is ${now}.`,
});
