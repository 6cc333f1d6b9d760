import type { changedMessages as english } from '../../en/pages/session-changed.ts'

/** Holds the messages for a page that still shows an account which is no longer signed in. In Arabic. */
export const changedMessages: typeof english = {
  title: 'تم تسجيل الدخول إلى حساب آخر',
  what: 'سجّلت الدخول إلى حساب آخر في هذا المتصفح. ما زالت هذه الصفحة تعرض الحساب السابق، ولا يمكنها تغييره.',
  typed: 'أعد تحميل الصفحة لترى الحساب المسجّل الدخول. انسخ أولًا ما كتبته هنا، فإعادة التحميل تمحوه.',
  reload: 'إعادة التحميل',
  refused: 'لم يُنفَّذ: هذا المتصفح مسجّل الدخول الآن إلى حساب آخر. أعد تحميل الصفحة.',
}
