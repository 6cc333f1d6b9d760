import { useRef } from 'preact/hooks'
import { redirectUriFault, type RedirectUriFault, rulesFor } from '../../lib/uris/redirect-uris.ts'
import { isolate } from '../../lib/text/isolate.ts'
import type { redirectMessages } from '../../locales/en/pages/redirect-uris.ts'

/** A URI of a list that the service refuses, with its place in the list. */
export type FaultyUri = { uri: string; index: number; fault: RedirectUriFault }

/** Returns the URIs that the service refuses for an app, as far as that is certain before it sees them. */
export function faultyUris(uris: string[], isPublic: boolean): FaultyUri[] {
  const rules = rulesFor(isPublic)
  return uris.flatMap((uri, index) => {
    const fault = redirectUriFault(uri, rules)
    return fault ? [{ uri, index, fault }] : []
  })
}

/**
 * Returns a sentence about the first URI with a fault, or undefined. The sentence stays the same while that URI is
 * corrected, because screen readers would announce another one with every character.
 */
export function useUriProblem(
  uris: string[],
  isPublic: boolean,
  { faults }: Pick<typeof redirectMessages, 'faults'>,
): string | undefined {
  const [first] = faultyUris(uris, isPublic)
  const found = first && {
    what: `${first.fault} ${first.index} ${uris.length}`,
    text: `${isolate(first.uri)} ${faults[first.fault]}`,
  }
  const said = useRef(found)
  if (said.current?.what !== found?.what) said.current = found
  return said.current?.text
}
