import { usePageMessages } from '../../components/frame/Root.tsx'
import { playgroundMessages as en } from '../../locales/en/pages/playground.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/playground.ts')).playgroundMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/playground.ts')).playgroundMessages)

/** Returns the messages of the playground, which no other page loads. */
export function usePlaygroundWords() {
  return usePageMessages({ en, de, ar })
}
