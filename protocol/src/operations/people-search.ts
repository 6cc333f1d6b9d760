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

/** Whether an operator has suspended an identity, or its account through it. */
export const identityStatuses = ['active', 'suspended'] as const
export type IdentityStatus = (typeof identityStatuses)[number]
