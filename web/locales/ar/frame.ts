import type { frameMessages as english } from '../en/frame.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted } from './format.ts'

/** Holds the messages of the frame of all pages and of signing out. In Arabic. */
export const frameMessages: typeof english = {
  frame: {
    language: 'اللغة',
    languageIs: (name) => `اللغة: ${isolate(name)}`,
    theme: 'المظهر',
    themes: { system: 'النظام', light: 'فاتح', dark: 'داكن' },
    homeOf: (name) => `الصفحة الرئيسية لخدمة ${isolate(name)}`,
    skip: 'الانتقال إلى المحتوى',
    help: 'المساعدة',
    terms: 'الشروط',
    privacy: 'الخصوصية',
    imprint: 'بيانات الناشر',
    support: 'الدعم',
    status: 'حالة الخدمة',
    areas: 'المجالات',
    sections: 'الأقسام',
    mainSections: 'الأقسام الرئيسية',
    account: 'الحساب',
    identities: 'الهويات',
    security: 'الأمان',
    signOut: 'تسجيل الخروج',
    retry: 'إعادة المحاولة',
    accountMenu: (name) => `قائمة الحساب: ${isolate(name)}`,
    waiting: 'قيد الانتظار',
    waitingSignatures: (count) =>
      count === 0
        ? 'لا توجد طلبات توقيع قيد الانتظار'
        : counted(count, {
            one: 'طلب توقيع واحد قيد الانتظار',
            two: 'طلبا توقيع قيد الانتظار',
            few: '# طلبات توقيع قيد الانتظار',
            many: '# طلب توقيع قيد الانتظار',
            other: '# طلب توقيع قيد الانتظار',
          }),
    more: 'المزيد',
    previous: 'السابق',
    next: 'التالي',
    undo: 'تراجع',
    close: 'إغلاق',
    youAreAt: 'أنت الآن على',
    moment: 'جارٍ التحميل…',
    cancel: 'إلغاء',
    copy: 'نسخ',
    copyWhat: (what) => `نسخ ${isolate(what)}`,
    copied: 'تم النسخ',
    organizations: 'المؤسسات',
    developers: 'المطوّرون',
    operator: 'التشغيل',
  },
}
