import { accountMessages } from '../../web/locales/en/account.ts'
import { activityMessages } from '../../web/locales/en/activity.ts'
import { en } from '../../web/locales/en/messages.ts'
import { signMessages } from '../../web/locales/en/sign.ts'

/** The English messages that all pages share, those of the account, and those of the page that signs. */
export const words = { ...en, ...signMessages, ...accountMessages, ...activityMessages }
