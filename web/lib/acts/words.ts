import type { actMessages } from '../../locales/en/pages/acts.ts'
import type { businessMessages } from '../../locales/en/pages/business.ts'

/** The messages that describe acts, and those of organizations, which describe their fields. */
export type ActWords = typeof actMessages
export type BusinessWords = typeof businessMessages
