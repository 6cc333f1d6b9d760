import { pictureMessages as de } from '../../locales/de/pages/pictures.ts'
import { pictureMessages as en } from '../../locales/en/pages/pictures.ts'
import { usePageMessages } from '../frame/Root.tsx'

/** Returns the messages about pictures. They load with the editor only. */
export function usePictureWords() {
  return usePageMessages({ en, de })
}
