/*
 * The class of a leaf; see worker/diskclass.h.
 */
#include "worker/diskclass.h"

#include <stdio.h>
#include <string.h>

/* By the beginning of the kernel's name, where that settles it. */
static const struct {
        const char *prefix;
        enum layer layer;
        const char *transport;
} names[] = {
        { "zram", LAYER_MEMORY, "" },   { "ram", LAYER_MEMORY, "" },     { "rbd", LAYER_RBD, "rbd" },
        { "nbd", LAYER_NBD, "nbd" },    { "drbd", LAYER_DRBD, "drbd" },  { "zd", LAYER_ZVOL, "" },
        { "xvd", LAYER_VIRTUAL, "xen" },{ "vd", LAYER_VIRTUAL, "virtio" },
};

/* By a part of the device's path. */
static const struct {
        const char *part;
        enum layer layer;
        const char *transport;
} buses[] = {
        { "/virtio", LAYER_VIRTUAL, "virtio" },
        { "/vmbus/", LAYER_VIRTUAL, "hyperv" },
        { "/VMBUS:", LAYER_VIRTUAL, "hyperv" },
        { "/vbd-", LAYER_VIRTUAL, "xen" },
        { "/session", LAYER_FABRIC, "iscsi" },
        { "/rport-", LAYER_FABRIC, "fc" },
        { "/usb", LAYER_DISK, "usb" },
        { "/mmc_host/", LAYER_DISK, "mmc" },
        { "/ata", LAYER_DISK, "ata" },
        { "/end_device-", LAYER_DISK, "sas" },
};

/* What hypervisors call the drives that they make up. */
static const struct {
        const char *vendor, *model; /* beginnings; "" fits all */
} virtual_models[] = {
        { "", "QEMU" }, { "QEMU", "" }, { "", "VBOX" }, { "", "VMware" }, { "VMware", "" }, { "Msft", "" },
        { "", "Virtual Disk" }, { "", "Amazon E" }, { "Google", "" }, { "", "nvme_card" }, { "", "Microsoft NVMe" },
        { "", "MSFT NVMe" }, { "", "Alibaba Cloud" }, { "XENSRC", "" }, { "", "Parallels" }, { "BHYVE", "" },
};

/* Drivers of controllers that make volumes of drives. */
static const char *const raid_drivers[] = { "megaraid", "megasas", "megaraid_sas", "megaraid_legacy", "hpsa", "cciss", "smartpqi", "aacraid", "arcmsr",
                                            "3w-9xxx", "3w-sas", "3w-xxxx", "ips", "mpi3mr", "pmcraid", "ipr", "hptiop", "dpt_i2o",
                                            "stex", "mvumi", "leapraid" };

/* A drive that such a controller passes through keeps its maker's name: libata's
 * translation says ATA, SAS drives name the maker. */
static const char *const drive_makers[] = { "ATA", "SEAGATE", "HGST", "HITACHI", "TOSHIBA", "WDC", "WD", "KIOXIA", "SAMSUNG",
                                            "INTEL", "MICRON", "SANDISK", "FUJITSU", "SOLIDIGM" };

/* Volumes by name, under whichever driver (mpt3sas drives both drives and volumes). */
static const struct {
        const char *vendor, *model;
} volume_models[] = {
        { "DELL", "PERC" }, { "", "LOGICAL VOLUME" }, { "", "Logical Volume" }, { "AVAGO", "" }, { "LSI", "" },
        { "BROADCOM", "" }, { "Adaptec", "" }, { "ASR", "" }, { "Areca", "" }, { "HP", "P" }, { "", "ServeRAID" },
        { "", "RAID" }, { "Lenovo", "RAID" }, { "PM8060", "" },
};

static bool begins(const char *text, const char *with) {
        return strncmp(text, with, strlen(with)) == 0;
}

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void set(struct stack_node *node, enum layer layer, const char *transport) {
        node->layer = (uint8_t) layer;
        (void) snprintf(node->transport, sizeof node->transport, "%s", transport);
}

static bool is_virtual_model(const struct diskclass_facts *f) {
        for (size_t i = 0; i < LENGTH(virtual_models); i++)
                if (begins(f->vendor, virtual_models[i].vendor) && begins(f->model, virtual_models[i].model))
                        return true;
        return false;
}

static bool is_virtual_driver(const struct diskclass_facts *f) {
        return strcmp(f->scsi_driver, "vmw_pvscsi") == 0 || strcmp(f->scsi_driver, "storvsc_host_t") == 0;
}

static bool is_volume(const struct diskclass_facts *f) {
        for (size_t i = 0; i < LENGTH(volume_models); i++)
                if (begins(f->vendor, volume_models[i].vendor) && begins(f->model, volume_models[i].model))
                        return true;
        for (size_t i = 0; i < LENGTH(drive_makers); i++)
                if (strcmp(f->vendor, drive_makers[i]) == 0)
                        return false;
        for (size_t i = 0; i < LENGTH(raid_drivers); i++)
                if (strcmp(f->scsi_driver, raid_drivers[i]) == 0)
                        return true;
        return false;
}

static void set_nvme(struct stack_node *node, const struct diskclass_facts *f) {
        bool fabric = f->nvme_transport[0] != '\0' && strcmp(f->nvme_transport, "pcie") != 0 &&
                      strcmp(f->nvme_transport, "apple-nvme") != 0;

        set(node, fabric ? LAYER_FABRIC : LAYER_DISK, fabric ? f->nvme_transport : "nvme");
}

static void set_by_bus(struct stack_node *node, const struct diskclass_facts *f) {
        set(node, LAYER_DISK, "");
        for (size_t i = 0; i < LENGTH(buses); i++)
                if (strstr(f->path, buses[i].part)) {
                        set(node, buses[i].layer, buses[i].transport);
                        return;
                }
}

void diskclass_apply(struct stack_node *node, const struct diskclass_facts *f) {
        for (size_t i = 0; i < LENGTH(names); i++)
                if (begins(f->name, names[i].prefix)) {
                        set(node, names[i].layer, names[i].transport);
                        return;
                }
        if (begins(f->name, "nvme"))
                set_nvme(node, f);
        else
                set_by_bus(node, f);
        if (is_virtual_driver(f) || (node->layer == LAYER_DISK && is_virtual_model(f)))
                node->layer = LAYER_VIRTUAL;
        else if (node->layer == LAYER_DISK && f->scsi_driver[0] != '\0' && is_volume(f))
                node->layer = LAYER_CONTROLLER;
        if (node->layer == LAYER_DISK && node->transport[0] != '\0')
                node->facts |= FACT_ATTACHED;
}
