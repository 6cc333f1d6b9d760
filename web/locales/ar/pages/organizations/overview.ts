import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { overviewMessages as english } from '../../../en/pages/organizations/overview.ts'
import { counted, numberOf } from '../../format.ts'

/** Holds the messages of the overview of an organization. In Arabic. */
export const overviewMessages: typeof english = {
  lead: (name) => `ما يجري في ${isolate(name)}.`,
  members: () => 'الأعضاء',
  invitations: (count) =>
    counted(count, {
      one: 'دعوة مفتوحة واحدة',
      two: 'دعوتان مفتوحتان',
      few: '# دعوات مفتوحة',
      many: '# دعوة مفتوحة',
      other: '# دعوة مفتوحة',
    }),
  owners: (count) =>
    counted(count, { one: 'مالك واحد', two: 'مالكان', few: '# مالكين', many: '# مالكًا', other: '# مالك' }),
  documents: () => 'المستندات المفتوحة',
  waiting: (count) =>
    count === 0
      ? 'لا شيء ينتظر توقيعًا'
      : counted(count, {
          one: 'مستند واحد ينتظر توقيعًا',
          two: 'مستندان ينتظران توقيعًا',
          few: '# مستندات تنتظر توقيعًا',
          many: '# مستندًا ينتظر توقيعًا',
          other: '# مستند ينتظر توقيعًا',
        }),
  atLeast: (count) => isolate(`${numberOf(count)}+`),
  open: 'فتح',
  setup: 'الإعداد',
  setupDone: (done, all) => `اكتمل ${numberOf(done)} من ${numberOf(all)}`,
  checks: {
    owners: {
      done: 'مالكان أو أكثر',
      open: 'تعيين مالك ثانٍ',
      why: 'إذا فقد أحدهما الوصول، فسيبقى الآخر قادرًا على التصرف.',
    },
    domain: {
      done: 'النطاق مؤكَّد',
      open: 'تأكيد نطاق',
      why: 'يستطيع الزملاء الذين لديهم عناوين عليه تسجيل الدخول عبركم.',
    },
    sso: {
      done: 'الدخول الموحّد قيد الاستخدام',
      open: 'ربط الدخول الموحّد',
      why: 'يسجّل الأعضاء الدخول عبر موفّر الهوية لديكم.',
    },
    signing: {
      done: 'التغييرات موقّعة',
      open: 'اشتراط توقيع التغييرات',
      why: 'يحمل كل تغيير يجريه مسؤول عندها توقيعًا لا يستطيع أحد تزويره، ولا حتى هذه الخدمة.',
    },
    logo: { done: 'تم تعيين الشعار', open: 'إضافة شعار', why: 'يظهر في الدعوات والتطبيقات.' },
  },
  recent: 'آخر الأحداث',
  all: 'فتح سجل التدقيق',
  yours: 'دورك',
  mayDo: 'يمكنك',
  signs: 'توقيعك مُلزِم للمؤسسة.',
}
