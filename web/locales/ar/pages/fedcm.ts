import type { fedcmMessages as english } from '../../en/pages/fedcm.ts'

/** Holds the messages of the window that completes a sign-in in a browser dialog. In Arabic. */
export const fedcmMessages: typeof english = {
  ending: 'جارٍ الرجوع إلى التطبيق…',
  over: 'انتهيت',
  overHint: 'أغلق هذه النافذة وتابع في التطبيق.',
  fault: 'لا يمكن متابعة تسجيل الدخول هذا',
  close: 'إغلاق',
  hint: 'أغلق هذه النافذة وحاول مرة أخرى في التطبيق.',
  hints: {
    expired: 'انتهت صلاحية تسجيل الدخول أو اكتمل أو يخص متصفحًا آخر. أغلق هذه النافذة وحاول مرة أخرى في التطبيق.',
    access_denied: 'يحتاج التطبيق إلى موافقتك لتسجيل دخولك. أغلق هذه النافذة وحاول مرة أخرى في التطبيق.',
    app_access_denied: 'لا يمكن لهذه الهوية استخدام التطبيق. أغلق هذه النافذة واطلب الوصول من مشغّل الخدمة.',
    unauthorized_client: 'هذه الصفحة لا تتبع التطبيق. أغلق هذه النافذة وتواصل مع مطوّر التطبيق.',
    invalid_request: 'أرسل التطبيق طلبًا غير صالح. أغلق هذه النافذة وتواصل مع مطوّر التطبيق.',
    server_error: 'حدث خطأ من جانبنا. أغلق هذه النافذة وحاول مرة أخرى بعد قليل.',
    temporarily_unavailable: 'الخدمة مشغولة. أغلق هذه النافذة وحاول مرة أخرى بعد قليل.',
  },
}
