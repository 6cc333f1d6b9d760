import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { logoutMessages as english } from '../../../en/pages/sign-in/logout.ts'

/** Holds the messages for signing out. In Arabic. */
export const logoutMessages: typeof english = {
  title: 'تسجيل الخروج',
  question: 'هل تريد تسجيل الخروج؟',
  who: 'هذا المتصفح مسجّل الدخول إلى هذا الحساب:',
  signOut: 'تسجيل الخروج',
  stay: 'البقاء في الحساب',
  signedOut: 'تم تسجيل خروجك',
  elsewhere: 'قد يبقى تسجيل دخولك ساريًا في بعض التطبيقات.',
  refused: 'طلب التطبيق نقلك إلى عنوان لم يسجّله، لذلك ستبقى هنا.',
  signInAgain: 'تسجيل الدخول من جديد',
  home: 'الانتقال إلى الصفحة الرئيسية',
  leaving: (host) => `تم تسجيل الخروج. جارٍ الرجوع إلى ${isolate(host)}…`,
}
