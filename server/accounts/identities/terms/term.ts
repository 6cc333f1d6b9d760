import type { IdentityId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import * as store from './term-store.ts'

const nameWordsMax = 6
const termCharactersMax = 254
/** Minimum length of a term. */
const termCharactersMin = 2

/** Texts of an identity by which an operator finds it. */
type Named = { handle: string; displayName: string; email: string | null }

/**
 * Folds text for comparison: compatibility forms (NFKC), letter case, the final sigma, and characters that are not
 * shown.
 */
export function fold(text: string): string {
  const cased = text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
  return cased.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC')
}

function withoutDiacritics(folded: string): string {
  return folded.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC')
}

/**
 * Returns the terms of an identity: its username, its e-mail address, `@` and the domain of the address, and the first
 * words of its name, each also without diacritics.
 */
export function termsOf({ handle, displayName, email }: Named): string[] {
  const domain = email === null ? [] : [email.slice(email.lastIndexOf('@'))]
  const whole = [handle, ...(email === null ? [] : [email]), ...domain].map(fold)
  // A name must not be found as the domain of an address.
  const words = wordsOf(displayName).map(withoutAt).flatMap(partsOf).slice(0, nameWordsMax)
  const terms = [...whole, ...words].flatMap((term) => [term, withoutDiacritics(term)]).map(shorten)
  return [...new Set(terms.filter((term) => lengthOf(term) >= termCharactersMin))]
}

function withoutAt(word: string): string {
  return word.replace(/^@+/, '')
}

/** Splits text into folded words, without the punctuation around them. A leading `@` stays: it finds a domain. */
export function wordsOf(text: string): string[] {
  const words = fold(text).split(/[\s\p{Cc}]+/u)
  const bare = words.map(withoutPunctuationAround)
  return bare.filter((word) => word !== '').map(shorten)
}

function withoutPunctuationAround(word: string): string {
  const characters = [...word]
  const isOfWord = (character: string) => /[\p{L}\p{N}\p{M}]/u.test(character)
  const start = characters.findIndex((character) => character === '@' || isOfWord(character))
  return characters.slice(Math.max(start, 0), characters.findLastIndex(isOfWord) + 1).join('')
}

/** Returns a word and the parts after its hyphens and apostrophes. A prefix search finds the first part already. */
function partsOf(word: string): string[] {
  const [, ...parts] = word.split(/[^\p{L}\p{N}\p{M}]+/u)
  return [word, ...parts.filter((part) => part !== '')]
}

function shorten(term: string): string {
  return [...term].slice(0, termCharactersMax).join('')
}

/** Counts the characters of a term, as the minimum counts them. */
export function lengthOf(term: string): number {
  return [...term].length
}

/** Sets the terms of an identity that no account has yet. */
export function setTerms(tx: Transaction, identityId: IdentityId, named: Named): void {
  store.replaceTerms(tx, identityId, termsOf(named))
}

/** Deletes the terms of an identity that no account has had. */
export function removeTerms(tx: Transaction, identityId: IdentityId): Promise<void> {
  return store.deleteTerms(tx, [identityId])
}

const pageIdentities = 1000

/** Derives the terms of all identities, invited ones too. A restored database has identities and no terms. */
export async function rebuildTerms(tx: Transaction): Promise<void> {
  for (const table of ['identity', 'invited_identity'] as const) {
    const pages = readPages<store.NamedRow>(pageIdentities, (last, count) =>
      store.listNamed(tx, table, { after: last?.identityId, count }),
    )
    for await (const rows of pages)
      await store.insertTerms(
        tx,
        rows.flatMap((row) => termsOf(row).map((term) => ({ term, identityId: row.identityId }))),
      )
  }
}
