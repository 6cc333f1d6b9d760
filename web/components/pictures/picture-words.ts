import { pictureMessages as en } from '../../locales/en/pages/pictures.ts'
import { usePageMessages } from '../frame/Root.tsx'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/pictures.ts')).pictureMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/pictures.ts')).pictureMessages)

/** Returns the messages about pictures. They load with the editor only. */
export function usePictureWords() {
  return usePageMessages({ en, de, ar })
}
