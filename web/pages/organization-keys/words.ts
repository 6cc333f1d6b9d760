import { usePageMessages } from '../../components/frame/Root.tsx'
import { organizationKeyMessages as de } from '../../locales/de/pages/organization-keys.ts'
import { organizationKeyMessages as en } from '../../locales/en/pages/organization-keys.ts'

/** Returns the messages of this page, which no other page loads. */
export function useKeyWords() {
  return usePageMessages({ en, de })
}
