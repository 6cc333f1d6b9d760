import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { noAccessMessages as english } from '../../../en/pages/sign-in/no-access.ts'
import { handleOf } from '../../format.ts'

/** Holds the messages for an identity that may not use the app. In Arabic. */
export const noAccessMessages: typeof english = {
  noAccess: (handle, app) => `لا يمكن للهوية ${handleOf(handle)} استخدام ${isolate(app)}`,
  askContact: (contact) => `لطلب الوصول تواصل مع: ${isolate(contact)}`,
  askOperator: 'اطلب الوصول من مشغّل الخدمة.',
  otherIdentity: 'استخدام هوية أخرى',
}
