import { usePageMessages } from '../../components/frame/Root.tsx'
import { recoverLinkMessages as en } from '../../locales/en/pages/sign-in/recover-link.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../locales/de/pages/sign-in/recover-link.ts')).recoverLinkMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../locales/ar/pages/sign-in/recover-link.ts')).recoverLinkMessages,
)

/** Returns the messages of this page, in the language of the user. */
export function usePageWords() {
  return usePageMessages({ en, de, ar })
}
