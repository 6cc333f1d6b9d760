import { organizationKeysDe } from '../messages/organization-keys-de.ts'
import { organizationKeysEn } from '../messages/organization-keys-en.ts'
import { useSpeech } from '../ui/Root.tsx'

const spoken = { en: organizationKeysEn, de: organizationKeysDe }

/** The words of these pages alone. They come with the page, and no other page has to carry them. */
export function useKeyWords() {
  return spoken[useSpeech().language]
}
