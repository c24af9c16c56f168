/** Put in by the bundler from package.json. */
declare const PINION_VERSION: string;

export const VERSION: string = PINION_VERSION;
