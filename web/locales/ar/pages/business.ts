import type { businessMessages as english } from '../../en/pages/business.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted, handleOf, numberOf } from '../format.ts'
import { organizationSecurityMessages } from './business-security.ts'
import { consoleMessages } from './organizations/console.ts'

/** Holds the messages of the organization pages. In Arabic. */
export const businessMessages: typeof english = {
  ...consoleMessages,
  ...organizationSecurityMessages,
  account: 'حسابك',
  noneTitle: 'لا مؤسسات بعد',
  none: 'لست عضوًا في أي مؤسسة بعد. أنشئ مؤسسة، أو اطلب من شخص ما دعوتك.',
  addWhat: 'ادعُ الزملاء، ووقّعوا المستندات معًا، وقرّروا كيف تسجّلون الدخول جميعًا.',
  create: 'إنشاء مؤسسة',
  name: 'الاسم',
  nameInvalid: `أدخل اسمًا لا يزيد على ${numberOf(80)} حرفًا.`,
  ownAs: 'أي هوية تملك المؤسسة؟',
  unknown: 'لم يتم العثور على المؤسسة',
  unknownWhy: 'حُذفت، أو لم تعد عضوًا فيها.',
  save: 'حفظ',
  saved: 'تم الحفظ.',
  approvals: {
    needed: 'الموافقات المطلوبة',
    neededHint: 'عدد أعضاء المجلس الآخرين الذين يجب أن يوافقوا على كل توقيع وكل تغيير في المجلس.',
    invalid: (most) => `أدخل عددًا من ${numberOf(0)} إلى ${numberOf(most)}.`,
    first: (count) =>
      counted(count, {
        one: 'يجب أن يوافق على هذا عضو آخر في المجلس. تقترحه الآن، ثم توقّعه بعد الموافقة.',
        two: 'يجب أن يوافق على هذا عضوان آخران في المجلس. تقترحه الآن، ثم توقّعه بعد موافقتهما.',
        few: 'يجب أن يوافق على هذا # أعضاء آخرين في المجلس. تقترحه الآن، ثم توقّعه بعد موافقتهم.',
        many: 'يجب أن يوافق على هذا # عضوًا آخر في المجلس. تقترحه الآن، ثم توقّعه بعد موافقتهم.',
        other: 'يجب أن يوافق على هذا # عضو آخر في المجلس. تقترحه الآن، ثم توقّعه بعد موافقتهم.',
      }),
    admission: 'يجب أن يقبل المجلس العضو قبل أن يتمكن من التوقيع أو الموافقة. اقترح ذلك ضمن «المجلس».',
  },

  rolesWhat: {
    owner: 'يفعل كل شيء، بما في ذلك تعيين المالكين وحذف المؤسسة.',
    admin: 'يدعو الأعضاء ويزيلهم، ويدير المفاتيح والنطاقات وتسجيل الدخول، ويوقّع.',
    signer: 'يوقّع باسم المؤسسة، ويوافق على ما يوقّعه الآخرون.',
    member: 'يستخدم التطبيقات باسم المؤسسة. لا يوقّع شيئًا ولا يدير شيئًا.',
    viewer: 'يرى المؤسسة وأعضاءها. يستخدم التطبيقات التي تسمح بالمُطَّلِعين.',
  },

  scopes: {
    read: 'رؤية المؤسسة وأعضائها',
    sign: 'التوقيع باسم المؤسسة',
    approve: 'الموافقة على التوقيعات',
    manage_identities: 'دعوة الأعضاء وتعديلهم وإزالتهم',
    manage_keys: 'إدارة المفاتيح',
    manage_sso: 'إدارة النطاقات والدخول الموحّد',
    manage_org: 'تغيير الإعدادات وعرض سجل التدقيق',
  },

  role: 'الدور',
  mayDo: 'الصلاحيات',
  authority: 'صلاحية التوقيع',
  hasAuthority: 'صلاحية التوقيع باسم المؤسسة',
  authorityWhat: 'ترى التطبيقات أن توقيع هذا العضو مُلزِم للمؤسسة.',
  since: (day) => `منذ ${isolate(day)}`,
  ask: {
    change: (handle) => `تعديل ${handleOf(handle)}`,
    remove: (handle) => `إزالة ${handleOf(handle)}`,
    leave: (handle) => `المغادرة بصفة ${handleOf(handle)}`,
  },

  change: 'تعديل',
  remove: 'إزالة',
  leave: 'مغادرة',
  changeTitle: (name) => `صلاحيات ${isolate(name)}`,
  removeTitle: (name) => `هل تريد إزالة ${isolate(name)}؟`,
  removeWhat:
    'يفقد العضو الوصول إلى المؤسسة فورًا، في كل التطبيقات. يمكنه الانضمام مجددًا بدعوة جديدة، أو عبر SSO ' +
    'الخاص بالمؤسسة إن كان يسمح له بذلك.',
  removeNow: 'إزالة العضو',
  leaveTitle: (organization) => `هل تريد مغادرة ${isolate(organization)}؟`,
  leaveWhat:
    'تفقد الوصول فورًا، في كل التطبيقات. يمكنك الانضمام مجددًا بدعوة جديدة، أو عبر SSO الخاص بالمؤسسة إن كان ' +
    'يسمح لك بذلك.',
  leaveNow: 'مغادرة المؤسسة',
  invitations: 'الدعوات',
  invite: 'دعوة أشخاص',
  inviteNow: 'دعوة',
  invitees: 'اسم المستخدم أو عنوان البريد الإلكتروني',
  inviteesInvalid: 'أدخل اسم مستخدم أو عنوان بريد إلكتروني.',
  link: 'انسخ هذا الرابط الآن وأرسله. لن يُعرض مرة أخرى، ولا يعمل إلا للشخص الذي دعوته.',
  done: 'تم',
  until: (day) => `تنتهي الصلاحية ${isolate(day)}`,
  withdraw: 'إلغاء الدعوة',
  trail: {
    show: 'تصفية',
    kinds: {
      all: 'كل الأحداث',
      'organization.member': 'الأعضاء',
      'organization.invitation': 'الدعوات',
      'organization.domain': 'النطاقات',
      sso: 'SSO',
      scim: 'SCIM',
    },
    nothing: 'لا توجد أحداث من هذا النوع بعد.',
    saveAs: {
      csv: 'تصدير بصيغة CSV',
      jsonl: 'تصدير بصيغة JSON Lines',
    },
    trailWhy:
      'يربط سجل التدقيق كل الأحداث في سلسلة. ' +
      'احتفظ بكل تصدير: يُظهر تصدير لاحق ما إذا كانت الخدمة قد غيّرت أحداثًا سابقة أو أزالتها.',
    saveTrail: 'تصدير سجل التدقيق كاملًا',
  },

  settingsLead: 'اسم المؤسسة وشعارها وقواعدها.',
  details: 'التفاصيل',
  slug: 'اسم العنوان',
  slugHint: 'يُستخدم في العناوين: أحرف لاتينية صغيرة وأرقام وشَرطات.',
  logo: 'عنوان الشعار',
  logoSha256: 'بصمة SHA-256 للشعار',
  invalid: {
    name: `أدخل اسمًا لا يزيد على ${numberOf(80)} حرفًا.`,
    slug: 'استخدم أحرفًا لاتينية صغيرة وأرقامًا وشَرطات. لا تبدأ ولا تنتهِ بشَرطة.',
  },

  deletion: {
    title: 'حذف المؤسسة',
    what: 'يفقد كل الأعضاء الوصول فورًا، في كل التطبيقات. لا يمكن التراجع عن ذلك.',
    confirm: (name) => `هل تريد حذف ${isolate(name)}؟`,
    forever: 'تحتفظ التطبيقات بالبيانات التي لديها بالفعل.',
    typeName: (name) => `أدخل «${isolate(name)}» للتأكيد`,
    mismatch: 'هذا ليس اسم المؤسسة.',
    now: 'حذف المؤسسة نهائيًا',
  },
}
