import type { adminBackupsMessages as english } from '../../../../en/pages/admin/service/backups.ts'

/** Holds the messages about backups, for operators. In Arabic. */
export const adminBackupsMessages: typeof english = {
  title: 'النسخ الاحتياطية',
  lead: 'ملف مشفّر فيه كل ما يدوم: المستخدمون والتطبيقات والمؤسسات والمفاتيح وسجل التدقيق.',
  last: 'آخر نسخة احتياطية',
  none: 'لم تُنشئ هذه الخدمة أي نسخة.',
  create: 'إنشاء نسخة احتياطية',
  createWhat: 'يشفّر متصفحك الملف. احتفظ به على جهاز آخر، واحتفظ بـ SECRET_KEY في مكان آخر.',
  passphrase: 'عبارة المرور',
  passphraseHint: (min) => `${min} حرفًا على الأقل. لا يمكن لأحد قراءة الملف من دونها.`,
  tooShort: (min) => `استخدم ${min} حرفًا على الأقل.`,
  download: 'تنزيل النسخة الاحتياطية',
  downloaded: 'نُزّلت النسخة الاحتياطية.',
}
