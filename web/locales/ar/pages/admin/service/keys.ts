import type { adminKeysMessages as english } from '../../../../en/pages/admin/service/keys.ts'

/** Holds the messages about the keys that sign tokens, for operators. In Arabic. */
export const adminKeysMessages: typeof english = {
  title: 'المفاتيح',
  lead: 'توقّع الرموز، وتُستبدل تلقائيًا كل 90 يومًا.',
  algorithm: 'الخوارزمية',
  state: 'الحالة',
  states: { published: 'ينتظر', signing: 'يوقّع', retired: 'متقاعد' },
  from: 'يوقّع من',
  until: 'منشور حتى',
  untilRotation: 'التبديل التالي',
  kid: 'معرّف المفتاح',
  rotate: 'تبديل',
  rotateTitle: 'تبديل المفاتيح',
  when: 'متى توقّع المفاتيح الجديدة',
  times: {
    later: { label: 'بعد ساعتين', about: 'تكون التطبيقات قد قرأتها، فلا تلاحظ شيئًا.' },
    atOnce: { label: 'فورًا', about: 'إذا كان مفتاح قد وقع في أيدٍ أخرى.' },
  },
  atOnceWhat: 'التطبيقات التي لا تقرأ المفاتيح من جديد ترفض تسجيل الدخول حتى ساعة.',
  rotated: 'نُشرت المفاتيح الجديدة.',
}
