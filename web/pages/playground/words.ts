import { usePageMessages } from '../../components/frame/Root.tsx'
import { playgroundMessages as de } from '../../locales/de/pages/playground.ts'
import { playgroundMessages as en } from '../../locales/en/pages/playground.ts'

/** Returns the messages of the playground, which no other page loads. */
export function usePlaygroundWords() {
  return usePageMessages({ en, de })
}
