/** Limits of a search for identities by an operator. */
export const peopleSearch = {
  charactersMax: 300,
  wordsMax: 4,
  /** Minimum length of the longest word. */
  wordCharactersMin: 2,
  /** Identities that are counted. */
  countMax: 10_000,
  cursorCharactersMax: 2000,
} as const

/** Orders in which an operator lists identities; `-` is descending. */
export const identityOrders = ['-createdAt', 'createdAt', 'handle', '-lastSeenOn'] as const
export type IdentityOrder = (typeof identityOrders)[number]

/**
 * What an operator has done through an identity. Of several, the last in this list is its status. An invited one has no
 * account yet, so that nothing else is done with it.
 */
export const identityStatuses = ['invited', 'active', 'recovering', 'suspended', 'deletion_scheduled'] as const
export type IdentityStatus = (typeof identityStatuses)[number]
