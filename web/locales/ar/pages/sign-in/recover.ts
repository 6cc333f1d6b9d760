import type { recoverMessages as english } from '../../../en/pages/sign-in/recover.ts'

/** Holds the messages for recovering an account. In Arabic. */
export const recoverMessages: typeof english = {
  title: 'استخدام رمز الاسترداد',
  lead: 'يعمل الرمز مرة واحدة. سيحصل هذا الجهاز على مفتاح مرور جديد، وسيُسجَّل خروجك من كل مكان آخر.',
  begin: 'متابعة',
  handleMissing: 'أدخل اسم المستخدم.',
  noMatch: 'اسم المستخدم ورمز الاسترداد غير متطابقين. يتوقف الرمز عن العمل بعد استخدامه أو استبداله.',
  locked: 'الرموز الخاطئة كثيرة جدًا. حاول مرة أخرى بعد ساعة.',
  unopened: 'تم تسجيل دخولك، لكن هذا الرمز لم يتمكن من فتح قفل مفاتيحك. لم تتغير مفاتيحك.',
  goOn: 'الانتقال إلى حسابك',
  foundPasskey: 'هل وجدت مفتاح المرور؟',
  restored: 'لقد عدت إلى حسابك',
  restoredLead: 'لم يعد الرمز القديم يعمل. إليك رمزك الجديد. أزِل مفاتيح المرور المفقودة ضمن «الأمان».',
}
