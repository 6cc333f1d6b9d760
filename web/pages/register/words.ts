import { usePageMessages } from '../../components/frame/Root.tsx'
import { registrationEmailMessages as en } from '../../locales/en/pages/sign-in/registration-email.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../locales/de/pages/sign-in/registration-email.ts')).registrationEmailMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../locales/ar/pages/sign-in/registration-email.ts')).registrationEmailMessages,
)

/** The messages about proving an address. */
export function useEmailWords(): typeof en {
  return usePageMessages({ en, de, ar })
}
