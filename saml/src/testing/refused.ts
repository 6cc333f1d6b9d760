import type { CorpusDocument } from './document.ts'

/** A document that is refused, and for what: refused for another reason, it would not show what it is there to show. */
export type Refused = [because: string, what: string, bytes: string | Buffer]

export function refused(attack: string, documents: Refused[]): CorpusDocument[] {
  return documents.map(([because, what, bytes]) => ({ case: attack, what, because, bytes }))
}
