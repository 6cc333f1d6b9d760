import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { devMailMessages as english, mailNoteMessages as englishNote } from '../../en/pages/dev-mail.ts'
import { counted, numberOf } from '../format.ts'

/** Holds the messages of the inbox of a service without a mail server. In Arabic. */
export const devMailMessages: typeof english = {
  title: 'بريد التطوير',
  lead: 'ليس لهذه الخدمة خادم بريد، لذلك تظهر رسائلها هنا. لا يستطيع فتح هذه الصفحة إلا هذا الحاسوب.',
  count: (count) =>
    counted(count, { one: 'رسالة واحدة', two: 'رسالتان', few: '# رسائل', many: '# رسالة', other: '# رسالة' }),
  empty: 'لا توجد رسائل بعد',
  emptyHint: 'أكّد عنوان بريد إلكتروني أو ادعُ عضوًا: تظهر الرسالة هنا فورًا.',
  failed: 'يتعذّر الوصول إلى الخدمة. تواصل هذه الصفحة المحاولة.',
  to: 'إلى',
  code: 'الرمز',
  setUp: 'إعداد البريد',
}

/** Holds the messages that say where a mailed code is. In Arabic. */
export const mailNoteMessages: typeof englishNote = {
  sent: (email) => `أرسلنا رمزًا إلى ${isolate(email)}. تنتهي صلاحيته خلال عشر دقائق.`,
  notSent: (email) => `الرمز الخاص بالعنوان ${isolate(email)} جاهز. تنتهي صلاحيته خلال عشر دقائق.`,
  notSetUp: 'البريد غير مُعَدّ في هذه الخدمة.',
  read: 'قراءة الرمز في بريد التطوير',
  resend: 'إرسال رمز جديد',
  resendIn: (seconds) => `إرسال رمز جديد بعد ${numberOf(seconds)} ث`,
  resent: 'أُرسل رمز جديد.',
}
