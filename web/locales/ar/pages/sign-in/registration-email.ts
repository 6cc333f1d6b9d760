import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { registrationEmailMessages as english } from '../../../en/pages/sign-in/registration-email.ts'

/** Holds the messages about proving an e-mail address before a registration. In Arabic. */
export const registrationEmailMessages: typeof english = {
  email: 'البريد',
  lead: 'ابدأ بعنوان بريدك الإلكتروني. لا يمكن التسجيل إلا بعناوين من نطاقات محددة.',
  address: 'عنوان البريد الإلكتروني',
  invalid: `أدخل عنوان بريد إلكتروني كاملًا، مثل ${isolate('ada@example.com')}.`,
  send: 'إرسال الرمز',
  enterCode: 'تحقق من بريدك',
  code: 'الرمز',
  verify: 'متابعة',
  otherAddress: 'استخدام عنوان آخر',
  refused: {
    email_domain_not_allowed: 'لا يمكن التسجيل هنا بعناوين هذا النطاق. استخدم عنوانًا آخر، أو اطلب دعوة.',
    email_verification_required: 'يجب تأكيد عنوان بريدك الإلكتروني من جديد.',
  },
}
