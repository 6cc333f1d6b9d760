import { organizationKeysDe } from '../../locales/organization-keys-de.ts'
import { organizationKeysEn } from '../../locales/organization-keys-en.ts'
import { useSpeech } from '../../components/frame/Root.tsx'

const spoken = { en: organizationKeysEn, de: organizationKeysDe }

/** The words of these pages alone. They come with the page, and no other page has to carry them. */
export function useKeyWords() {
  return spoken[useSpeech().language]
}
