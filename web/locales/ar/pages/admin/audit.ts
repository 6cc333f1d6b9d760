import type { adminAuditMessages as english } from '../../../en/pages/admin/audit.ts'
import { counted, numberOf } from '../../format.ts'

const eventForms = {
  one: 'حدث جديد',
  two: 'حدثين جديدين',
  few: '# أحداث جديدة',
  many: '# حدثًا جديدًا',
  other: '# حدث جديد',
}

/** Holds the messages about the audit log, for operators. In Arabic. */
export const adminAuditMessages: typeof english = {
  title: 'سجل التدقيق',
  lead: 'كل ما جرى في الخدمة، الأحدث أولًا.',
  events: 'الأحداث',
  none: 'لم يُسجَّل شيء بعد',
  export: { open: 'تصدير', formats: { csv: 'CSV', jsonl: 'JSON Lines' } },
  filter: {
    title: 'التصفية',
    action: 'الإجراء',
    identity: 'اسم المستخدم أو المعرّف',
    app: 'معرّف العميل',
    actor: 'من نفّذ الإجراء',
    actors: {
      all: 'أي جهة',
      user: 'مستخدم',
      app: 'تطبيق',
      operator: 'مشغّل أو رمز',
      token: 'رمز إدارة',
      scim: 'دليل عبر SCIM',
      break_glass: 'ADMIN_TOKEN',
      system: 'الخدمة',
    },
    result: 'النتيجة',
    results: { all: 'أي نتيجة', success: 'نجح', failure: 'فشل' },
    period: 'الفترة',
    periods: {
      all: 'كل الفترات',
      day: `${numberOf(24)} ساعة`,
      week: `${numberOf(7)} أيام`,
      month: `${numberOf(30)} يومًا`,
    },
    apply: 'تصفية',
    clear: 'إلغاء التصفية',
  },
  nothingNew: 'لا أحداث جديدة',
  someNew: 'أحداث جديدة',
  shown: (count) => counted(count, { one: 'حدث واحد', two: 'حدثان', few: '# أحداث', many: '# حدثًا', other: '# حدث' }),
  showNew: (count, isMore) =>
    isMore ? `عرض أكثر من ${counted(count, eventForms)}` : `عرض ${counted(count, eventForms)}`,
  noMatch: 'لم يُعثر على حدث',
  noMatchWhat: 'جرّب تصفية أخرى.',
  noneSoFar: 'لم يُعثر على شيء حتى الآن. بقي في السجل ما لم يُبحث فيه.',
  details: 'التفاصيل',
  failed: 'فشل',
  object: 'العنصر',
  request: 'الطلب',
  app: 'التطبيق',
  identity: 'الهوية',
  organization: 'المؤسسة',
  actors: { operator: 'مشغّل', system: 'الخدمة' },
  by: {
    user: (name) => (name === undefined ? 'مستخدم' : `المستخدم ${name}`),
    app: (name) => (name === undefined ? 'تطبيق' : `التطبيق ${name}`),
    operator: (name) => (name === undefined ? 'مشغّل سابق' : `المشغّل ${name}`),
    token: (name) => (name === undefined ? 'رمز إدارة' : `رمز الإدارة ${name}`),
    scim: (name) => (name === undefined ? 'رمز SCIM' : `رمز SCIM ${name}`),
  },
}
