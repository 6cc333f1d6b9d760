import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { adminOverviewMessages as english } from '../../../en/pages/admin/overview.ts'

/** Holds the messages about the state of the service, for operators. In Arabic. */
export const adminOverviewMessages: typeof english = {
  title: 'نظرة عامة',
  attention: 'يحتاج إلى انتباهك',
  well: 'كل شيء يعمل.',
  version: (version) => `الإصدار ${isolate(version)}`,
  since: (day) => `منذ: ${day}`,
  failing: 'خلل',
  warning: 'تحذير',
  checks: {
    database: { title: 'قاعدة البيانات', fix: 'قاعدة البيانات لا تستجيب. راجع سجل الخدمة.' },
    migrations: {
      title: 'قاعدة البيانات من إصدار آخر',
      fix: 'شغّل الإصدار نفسه على كل الأجهزة، ثم أعد تشغيله.',
    },
    clock: { title: 'ساعتان غير متطابقتين', fix: `اضبط ساعتَي الخدمة وقاعدة البيانات عبر ${isolate('NTP')}.` },
    disk: {
      title: 'القرص يكاد يمتلئ',
      fix: `احذف ملفات من القرص الذي فيه ${isolate('DATA_DIR')}، أو كبّره.`,
    },
    mail: { title: 'لا يُرسَل أي بريد', fix: `عيّن ${isolate('SMTP_URL')} و${isolate('MAIL_FROM')}.` },
    invitation_mails: {
      title: 'يتعذّر إرسال بريد الدعوات',
      fix: 'سيُعاد إرساله لاحقًا. تحقّق من خادم البريد ومن السجل.',
    },
    webhooks: {
      title: `يتعذّر تسليم ${isolate('webhooks')}`,
      fix: 'سيُعاد تسليمها لاحقًا. تحقّق من عمليات التسليم لتطبيقاتك.',
    },
    audit_log: {
      title: 'سجل التدقيق متأخر',
      fix: 'لم تُرقَّم فيه الأحداث الجديدة بعد. راجع سجل الخدمة.',
    },
    sinks: {
      title: 'لا تصل الأحداث إلى مستقبلي سجل التدقيق',
      fix: `سيُعاد إرسالها لاحقًا. اعرف السبب بالأمر: ${isolate('countersign sinks list')}`,
    },
    token_signing_keys: {
      title: 'تأخّر تبديل مفاتيح توقيع الرموز',
      fix: `بدّلها بالأمر: ${isolate('countersign keys rotate')}`,
    },
    backup: {
      title: 'لا توجد نسخة احتياطية حديثة',
      fix: `أنشئ نسخة واحفظها على جهاز آخر: ${isolate('countersign backup')}`,
    },
    owners: {
      title: 'ينقص مالك ثانٍ',
      fix: 'أضف مالكًا. إذا فقد المالك الوحيد مفاتيح مروره، فلن يستطيع أحد إدارة المشغّلين.',
    },
    admin_tokens: { title: 'رموز إدارة تنتهي قريبًا', fix: 'استبدل الرموز المستخدمة منها.' },
    scim_tokens: { title: 'رموز SCIM تنتهي قريبًا', fix: 'استبدل رموز الأدلة التي تستخدمها.' },
  },
  numbers: {
    pendingInvitations: 'الدعوات المفتوحة',
    suspendedIdentities: 'الهويات المعلّقة',
    apps: 'التطبيقات',
    operators: 'المشغّلون',
  },
  open: {
    pendingInvitations: 'عرض الدعوات',
    suspendedIdentities: 'عرض الأشخاص',
    apps: 'عرض التطبيقات',
    operators: 'عرض المشغّلين',
  },
  first: 'الخطوات الأولى',
  steps: {
    invite: { title: 'ادعُ أشخاصًا', why: 'برابط أو بالبريد أو من ملف.' },
    groups: { title: 'أنشئ مجموعة', why: 'تحدّد المجموعات من يمكنه استخدام تطبيق.' },
    owner: { title: 'أضف مالكًا ثانيًا', why: 'تحسّبًا لفقدان مفاتيح مرورك.' },
  },
}
