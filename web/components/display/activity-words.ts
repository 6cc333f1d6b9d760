import { activityMessages as en } from '../../locales/en/activity.ts'
import { lateTexts } from '../../locales/late-texts.ts'
import { usePageMessages } from '../frame/Root.tsx'

const de = lateTexts('de', async () => (await import('../../locales/de/activity.ts')).activityMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/activity.ts')).activityMessages)

/** The messages about recorded actions. Only pages that show an activity load them. */
export function useActivityMessages() {
  return usePageMessages({ en, de, ar })
}
