import { isolate } from '@countersign/protocol/formats/registries/languages'

/** Returns the username of an identity as pages show it. From right to left, its @ would else move behind it. */
export function atHandle(handle: string): string {
  const text = `@${handle}`
  return globalThis.document?.documentElement.dir === 'rtl' ? isolate(text) : text
}
