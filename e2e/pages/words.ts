import { accountMessages } from '../../web/locales/en/account.ts'
import { activityMessages } from '../../web/locales/en/activity.ts'
import { en } from '../../web/locales/en/messages.ts'

/** The English messages that all pages share, and those of the account. */
export const words = { ...en, ...accountMessages, ...activityMessages }
