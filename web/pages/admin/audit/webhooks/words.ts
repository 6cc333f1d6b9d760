import { usePageMessages } from '../../../../components/frame/Root.tsx'
import { adminWebhooksMessages as en } from '../../../../locales/en/pages/admin/receivers/webhooks.ts'
import { lateTexts } from '../../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../../locales/de/pages/admin/receivers/webhooks.ts')).adminWebhooksMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../../locales/ar/pages/admin/receivers/webhooks.ts')).adminWebhooksMessages,
)

/** The messages of this section. */
export function useWebhooksMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
