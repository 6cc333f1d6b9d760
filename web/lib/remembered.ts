import type { Language } from '@countersign/protocol/formats/registries/languages'

/** Reads a value from local storage. Returns null if the browser forbids access. */
export function readLocal(key: string): string | null {
  return ifAllowed(() => localStorage.getItem(key))
}

export function writeLocal(key: string, value: string): void {
  ifAllowed(() => localStorage.setItem(key, value))
}

/** Calls `use`. Browsers that forbid storage throw on any access, and no page depends on it. */
function ifAllowed<T>(use: () => T): T | null {
  try {
    return use()
  } catch {
    return null
  }
}

const key = 'language'

/** Returns the language that the user chose earlier in this browser. */
export function rememberedLanguage(): string | null {
  return readLocal(key)
}

export function rememberLanguage(language: Language): void {
  writeLocal(key, language)
}

const signedInKey = 'signed-in'

/** Remembers whether this browser had a session when a page last asked for it. */
export function rememberSignedIn(isSignedIn: boolean): void {
  writeLocal(signedInKey, isSignedIn ? 'yes' : 'no')
}

/**
 * Returns whether this browser had a session when a page last asked. It may have ended since: this only saves visitors
 * who never signed in a request that fails.
 */
export function wasSignedIn(): boolean {
  return readLocal(signedInKey) === 'yes'
}

const operatorKey = 'operator'

/** Remembers whether a user of this browser, by their username, is an operator. */
export function rememberOperator(handle: string, isOperator: boolean): void {
  if (isOperator || wasOperator(handle)) writeLocal(operatorKey, isOperator ? handle : '')
}

/**
 * Returns whether a user was an operator when they last opened the operator pages here. It only decides on a link: the
 * server decides on each request.
 */
export function wasOperator(handle: string): boolean {
  return readLocal(operatorKey) === handle
}
